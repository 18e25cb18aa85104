import EngineCompiler
import EngineDelegation
package import EngineGraph
package import EngineRuntime

extension InferenceFunction {
    /// Where the function runs, as far as that can be said without running it. Not a part of Apple's API.
    ///
    /// - Parameter shapes: A shape for each input and state that has dynamic sizes. Where one is missing, nothing is
    ///   placed, and the report says so.
    /// - Throws: An error that names the op that can't run, and why.
    public func placement(for shapes: [String: [Int]] = [:]) throws -> PlacementReport.Function {
        let function = executor.function
        var builder = PlacementBuilder(function, options: options)
        var types: [ValueType] = []
        var open: [String] = []
        for argument in arguments {
            let shape = shapes[argument.name] ?? argument.type.shape
            let type = TensorType(shape, argument.type.elementType)
            guard argument.type.accepts(type) else {
                throw EngineError.invalidArgument(
                    function: descriptor.name, argument: argument.name, expected: argument.type.description,
                    given: type.description)
            }
            if !type.isStatic { open.append(argument.name) }
            types.append(argument.isState ? .handle(type) : .tensor(type))
        }
        for name in shapes.keys.sorted() where !arguments.contains(where: { $0.name == name }) {
            throw EngineError.invalidArgument(
                function: descriptor.name, argument: name,
                expected: "an input or state of the function", given: "'\(name)'")
        }
        guard open.isEmpty else {
            let ops = function.compiled.graph.body.ops.flatMap(\.origins)
            let reason = "the sizes of \(open.joined(separator: ", ")) are dynamic, and no shapes were given"
            return builder.report(
                arguments: nil, unbound: [UnboundStretch(path: "", ops: ops, reason: reason)])
        }
        let plan = try executor.plan(for: types)
        for (path, segment) in plan.segments { builder.add(segment, path: path) }
        return builder.report(arguments: types, unbound: plan.unbound)
    }

    /// Runs the function a few times and reports where it ran, with the time of each pattern. Not a part of Apple's
    /// API.
    ///
    /// What depends on the contents of the arguments, such as which branch runs, is as these arguments decide.
    ///
    /// - Parameters:
    ///   - inputs: An array for every input.
    ///   - states: An array for every state; the calls work on copies.
    ///   - runCount: How many calls are measured, after one that is not. Times are the least of all calls.
    /// - Throws: As a run does.
    public func measurePlacement(
        inputs: [String: NDArray], states: [String: NDArray] = [:], runCount: Int = 3
    ) async throws -> PlacementReport.Function {
        let runCount = max(1, runCount)
        try await call(inputs, states)
        let observer = RunObserver(measures: true)
        try await RunObserver.$current.withValue(observer) {
            for _ in 0..<runCount { try await call(inputs, states) }
        }
        let types = arguments.map { argument in
            let array = argument.isState ? states[argument.name] : inputs[argument.name]
            let type = TensorType(array?.shape ?? argument.type.shape, argument.type.elementType)
            return argument.isState ? ValueType.handle(type) : .tensor(type)
        }
        var report = placement(observed: observer, arguments: types, runCount: runCount)
        for (index, argument) in report.arguments.enumerated() {
            guard let array = argument.isState ? states[argument.name] : inputs[argument.name] else { continue }
            report.arguments[index].givenStrides = array.strides
            report.arguments[index].isCopiedForLayout = !array.borrowedTensor.isDense
        }
        return report
    }

    /// Where the segments ran that `observer` saw.
    package func placement(
        observed observer: RunObserver, arguments types: [ValueType]? = nil, runCount: Int = 0
    ) -> PlacementReport.Function {
        var builder = PlacementBuilder(executor.function, options: options)
        for visit in observer.visits { builder.add(visit.segment, path: visit.path, visit: visit) }
        builder.add(dynamic: observer.dynamicOps)
        return builder.report(arguments: types, unbound: [], runCount: runCount)
    }

    private func call(_ inputs: [String: NDArray], _ states: [String: NDArray]) async throws {
        var states = states
        var views = MutableViews()
        for name in states.keys { views.insert(&states[name]!, for: name) }
        _ = try await run(inputs: inputs, states: views)
    }
}

extension AIModel {
    /// Where each function runs, as far as that can be said without running it. Not a part of Apple's API.
    ///
    /// - Parameter shapes: A shape for each input and state that has dynamic sizes, by its name, for whichever function
    ///   has one of this name.
    /// - Throws: An error that names the op that can't run, and why.
    public func placementReport(for shapes: [String: [Int]] = [:]) throws -> PlacementReport {
        var functions: [PlacementReport.Function] = []
        for name in functionNames {
            guard let function = try loadFunction(named: name) else { continue }
            let known = Set(function.descriptor.inputNames + function.descriptor.stateNames)
            functions.append(try function.placement(for: shapes.filter { known.contains($0.key) }))
        }
        return PlacementReport(functions: functions)
    }
}

extension AIModel {
    /// A function whose ops run one by one, and whose every op's results a `RunObserver`'s probe sees: to compare with
    /// another run, not to be fast. nil where none has this name.
    package func loadProbedFunction(named functionName: String) throws -> InferenceFunction? {
        guard let descriptor = functionDescriptor(for: functionName) else { return nil }
        let compiled = try Compiler.compile(
            program, function: functionName, host: EngineUnits.cpu, delegate: EngineUnits.cpu, fusesPatterns: false,
            choice: EngineUnits.choice(for: options, isStrict: false), keepsResults: true)
        return try InferenceFunction(
            descriptor: descriptor, executor: FunctionExecutor(compiled), options: options)
    }
}
