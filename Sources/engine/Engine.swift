import EngineCommand
import Foundation

@main enum Engine {
    static func main() async { exit(await EngineCommand.main(Array(CommandLine.arguments.dropFirst()))) }
}
