// Lease times, which exist server-wide and per subnet.
#include <cstdint>
#include <cstdio>
#include <string>

#include "server/config/validate.h"

namespace ringdhcp {

namespace {

std::string Shown(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.10g", value);  // ten digits hold every whole uint32
  return text;
}

// One of the five times, for the checks of one against another.
struct TimeField {
  const char* name;
  double value;
  bool written = false;  // in this block
  bool bad = false;      // reported already
};

class LeaseTimesBuilder {
 public:
  LeaseTimesBuilder(const std::string& path, const char* origin, const FieldPlaces& places,
                    Report& report)
      : path_(path), origin_(origin), places_(places), report_(report) {}

  TimeField Seconds(const char* name, bool present, std::uint32_t value,
                    std::uint32_t* seconds) const {
    TimeField field{name, 0, present, false};
    const std::string path = path_ + '.' + name;
    if (present) {
      field.bad = !CheckRange(value, 1, kInfiniteSeconds, " seconds", path, places_, report_);
      *seconds = value;
    }
    field.bad = field.bad || places_.IsBad(path);
    field.value = *seconds;
    return field;
  }

  TimeField Fraction(const char* name, bool present, double value, double* fraction) const {
    TimeField field{name, 0, present, false};
    const std::string path = path_ + '.' + name;
    if (present) {
      if (value > 1) {
        // Written as a percentage, most likely.
        report_.Error(places_.At(path), path,
                      "must be a fraction of the lease, 0-1, not " + Shown(value),
                      value < 100 ? "did you mean " + Shown(value / 100) + '?' : "");
        field.bad = true;
      }
      *fraction = value;
    }
    field.bad = field.bad || places_.IsBad(path);
    field.value = *fraction;
    return field;
  }

  // Reports low > high (or low >= high, if `strict`) once, at a field that is written here; at
  // none if both are inherited, which is reported where they come from.
  // Returns false if it reported.
  bool CheckOrder(const TimeField& low, const TimeField& high, bool strict) const {
    const bool good = strict ? low.value < high.value : low.value <= high.value;
    if (good || low.bad || high.bad || (!low.written && !high.written)) return true;
    const TimeField& at = high.written ? high : low;
    const TimeField& other = high.written ? low : high;
    const char* relation = high.written ? (strict ? " is not above " : " is below ")
                                        : (strict ? " is not below " : " is above ");
    std::string message =
        Shown(at.value) + relation + '\'' + other.name + "', which is " + Shown(other.value);
    std::string suggestion =
        std::string(low.name) + " must be " + (strict ? "below " : "at most ") + high.name;
    if (!other.written) {
      message += std::string(" ") + origin_;
      suggestion = strict ? "write " + std::string(other.name) + ", too"
                          : "write " + std::string(other.name) + ": " + Shown(at.value) + ", too";
    }
    const std::string path = path_ + '.' + at.name;
    report_.Error(places_.At(path), path, std::move(message), std::move(suggestion));
    return false;
  }

  void CheckFractions(const TimeField& t1, const TimeField& t2) const {
    CheckOrder(t1, t2, /*strict=*/true);
    if (t2.written && !t2.bad && t2.value >= 1) {
      const std::string path = path_ + ".t2";
      report_.Error(places_.At(path), path, "must be below 1, not " + Shown(t2.value),
                    "0.875 is usual");
    }
    if (t1.written && !t1.bad && t1.value == 0) {
      const std::string path = path_ + ".t1";
      report_.Warning(places_.At(path), path, "clients would renew without a pause",
                      "0.5 is usual");
    }
  }

 private:
  const std::string& path_;
  const char* origin_;
  const FieldPlaces& places_;
  Report& report_;
};

}  // namespace

LeaseTimes BuildLeaseTimes(const config::LeaseTimes& block, const std::string& path,
                           const LeaseTimes& inherited, const char* origin,
                           const FieldPlaces& places, Report& report) {
  const LeaseTimesBuilder builder(path, origin, places, report);
  LeaseTimes times = inherited;
  const TimeField min = builder.Seconds("min", block.has_min(), block.min(), &times.min_s);
  const TimeField usual =
      builder.Seconds("default", block.has_default_(), block.default_(), &times.default_s);
  const TimeField max = builder.Seconds("max", block.has_max(), block.max(), &times.max_s);
  const TimeField t1 = builder.Fraction("t1", block.has_t1(), block.t1(), &times.t1);
  const TimeField t2 = builder.Fraction("t2", block.has_t2(), block.t2(), &times.t2);
  const bool low_good = builder.CheckOrder(min, usual, /*strict=*/false);
  const bool high_good = builder.CheckOrder(usual, max, /*strict=*/false);
  // If both are the wrong way round, so are the outer two: nothing new.
  if (low_good || high_good) builder.CheckOrder(min, max, /*strict=*/false);
  builder.CheckFractions(t1, t2);
  return times;
}

}  // namespace ringdhcp
