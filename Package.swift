// swift-tools-version: 6.2

import PackageDescription

/// Settings that every Swift target shares.
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

/// Targets that read foreign bytes or hand out memory: every unsafe use is marked where it happens.
let strictSettings = settings + [.strictMemorySafety()]

let cSettings: [CSetting] = [.treatAllWarnings(as: .error)]

let package = Package(
    name: "coreai-engine",
    products: [
        .library(name: "CoreAI", targets: ["CoreAI"]),
        .executable(name: "engine", targets: ["engine"]),
    ],
    targets: [
        // The command and the public API.
        .executableTarget(
            name: "engine",
            dependencies: ["EngineCommand"],
            swiftSettings: settings
        ),
        .target(
            name: "EngineCommand",
            dependencies: [
                "CZlib", "CoreAI", "DelegateConformance", "EngineAsset", "EngineCompiler", "EngineDelegation",
                "EngineGraph", "EngineRuntime",
            ],
            swiftSettings: settings
        ),
        .target(
            name: "CoreAI",
            dependencies: [
                "CPUDelegate", "EngineAsset", "EngineCompiler", "EngineDelegation", "EngineGraph", "EngineRuntime",
            ],
            swiftSettings: strictSettings + [.enableExperimentalFeature("Lifetimes")]
        ),

        // The engine: dependencies point down only.
        .target(
            name: "EngineRuntime",
            dependencies: ["EngineCompiler", "EngineDelegation", "EngineGraph"],
            swiftSettings: settings
        ),
        .target(
            name: "EngineCompiler",
            dependencies: ["EngineDelegation", "EngineGraph"],
            swiftSettings: settings
        ),
        .target(name: "EngineDelegation", dependencies: ["EngineGraph"], swiftSettings: settings),
        .target(name: "EngineAsset", dependencies: ["CCrypto", "EngineGraph"], swiftSettings: strictSettings),
        .target(name: "EngineGraph", swiftSettings: strictSettings),

        // Delegates: each sees EngineDelegation and its own C module.
        .target(
            name: "CPUDelegate",
            dependencies: ["COpenBLAS", "CPUKernels", "EngineDelegation", "EngineGraph"],
            swiftSettings: settings
        ),

        // For tests of delegates and of what uses them: what each must do, and a fake one.
        .target(
            name: "DelegateConformance",
            dependencies: ["EngineDelegation", "EngineGraph"],
            swiftSettings: settings
        ),
        .target(name: "TestDelegate", dependencies: ["EngineDelegation", "EngineGraph"], swiftSettings: settings),

        // C.
        .systemLibrary(name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "COpenBLAS", pkgConfig: "openblas", providers: [.apt(["libopenblas-dev"])]),
        .target(name: "CPUKernels", cSettings: cSettings, linkerSettings: [.linkedLibrary("m")]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),

        // Tests.
        .target(
            name: "EngineTestSupport",
            dependencies: ["EngineDelegation", "EngineGraph"],
            path: "Tests/EngineTestSupport",
            swiftSettings: settings
        ),
        .testTarget(
            name: "CPUDelegateTests",
            dependencies: ["CPUDelegate", "CPUKernels", "EngineDelegation", "EngineGraph", "EngineTestSupport"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "CoreAITests",
            dependencies: [
                "CPUDelegate", "CoreAI", "EngineAsset", "EngineCompiler", "EngineDelegation", "EngineGraph",
                "EngineRuntime", "EngineTestSupport", "TestDelegate",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "DelegateConformanceTests",
            dependencies: ["CPUDelegate", "DelegateConformance", "EngineDelegation", "EngineGraph", "TestDelegate"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "EngineAssetTests",
            dependencies: ["EngineAsset", "EngineGraph", "EngineTestSupport"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "EngineCommandTests",
            dependencies: [
                "CPUDelegate", "CoreAI", "EngineCommand", "EngineDelegation", "EngineGraph", "TestDelegate",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "EngineCompilerTests",
            dependencies: ["CPUDelegate", "EngineCompiler", "EngineDelegation", "EngineGraph", "EngineTestSupport"],
            swiftSettings: settings
        ),
        .testTarget(name: "EngineGraphTests", dependencies: ["EngineGraph"], swiftSettings: settings),
        .testTarget(
            name: "EngineRuntimeTests",
            dependencies: [
                "CPUDelegate", "EngineCompiler", "EngineDelegation", "EngineGraph", "EngineRuntime",
                "EngineTestSupport", "TestDelegate",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "TestDelegateTests",
            dependencies: ["CPUDelegate", "EngineDelegation", "EngineGraph", "EngineTestSupport", "TestDelegate"],
            swiftSettings: settings
        ),
    ],
    swiftLanguageModes: [.v6],
    cLanguageStandard: .gnu17
)
