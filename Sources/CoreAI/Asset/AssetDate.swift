internal import Foundation

/// Dates as an asset writes them: `20261130T132636Z`, in the Gregorian calendar and UTC.
enum AssetDate {
    private static let secondsPerDay = 86_400
    /// The days from 0000-03-01 to 1970-01-01.
    private static let epochDays = 719_468

    static func date(_ text: String) -> Date? {
        let characters = Array(text.utf8)
        guard characters.count == 16, characters[8] == UInt8(ascii: "T"), characters[15] == UInt8(ascii: "Z") else {
            return nil
        }
        func number(_ range: Range<Int>) -> Int? {
            guard characters[range].allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains) else { return nil }
            return Int(String(decoding: characters[range], as: UTF8.self))
        }
        guard let year = number(0..<4), let month = number(4..<6), let day = number(6..<8), let hour = number(9..<11),
            let minute = number(11..<13), let second = number(13..<15), (1...12).contains(month),
            (1...31).contains(day), hour < 24, minute < 60, second < 61
        else { return nil }
        let days = days(year, month, day)
        guard civil(days) == (year, month, day) else { return nil }
        return Date(timeIntervalSince1970: Double(days * secondsPerDay + hour * 3600 + minute * 60 + second))
    }

    static func text(_ date: Date) -> String {
        // The years that four digits can write: from 0000-01-01 to 9999-12-31.
        let seconds = Int(min(max(date.timeIntervalSince1970.rounded(.down), -62_167_219_200), 253_402_300_799))
        let days = seconds >= 0 ? seconds / secondsPerDay : -((secondsPerDay - 1 - seconds) / secondsPerDay)
        let rest = seconds - days * secondsPerDay
        let (year, month, day) = civil(days)
        func padded(_ value: Int, _ width: Int) -> String {
            let digits = String(value)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        return padded(year, 4) + padded(month, 2) + padded(day, 2) + "T" + padded(rest / 3600, 2)
            + padded(rest / 60 % 60, 2) + padded(rest % 60, 2) + "Z"
    }

    /// The days since 1970 of a date. Years start in March here, so that the leap day is the last of its year.
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let marchYear = month > 2 ? year : year - 1
        let era = (marchYear >= 0 ? marchYear : marchYear - 399) / 400
        let yearOfEra = marchYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - epochDays
    }

    /// The date of a number of days since 1970.
    private static func civil(_ days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + epochDays
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
    }
}
