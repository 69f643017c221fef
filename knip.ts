/** What knip takes as started by somebody, in search of files, exports and packages that nobody uses. */

/** Only for tests: in the product alone, an export that its own file uses too is no fault. */
const isProduction = process.argv.includes('--production')

const config = {
  entry: [
    'src/{main,executable}.ts!',
    'src/cli/main.ts!',
    'src/dashboard/main.tsx!',
    'src/dashboard/docs/docs.ts!',
    'src/boot/{dashboard-assets/prebuild,executable/build}.ts!',
    'src/boot/embedded/launcher.ts!',
    'test/**/*.test.ts',
    'test/**/{main,print,run,run-frameworks}.ts',
    'test/**/{killed,take-descriptors-at}-*.ts',
    'test/boot/embedded/{launched,start-both}.ts',
    'test/boot/{list-modules,note-tokenizer}.ts',
    'test/dialects/aws/loaded-modules.ts',
    'test/fuzz/{gateway-process,patient-provider}.ts',
    'test/money-model/planted/{hunt,plant}.ts',
    'test/runner/victim.ts',
    'test/whole-streams/paced-provider.ts',
    'faults/world/shifted-clock.ts',
    '{bench,faults}/main.ts',
    'bench/{batches,books,compare,soak,usage-lists,router-eval}.ts',
    'bench/{load,mock}/main.ts',
    'bench/peers/programs/*.ts',
    'bench/router/train.ts',
  ],
  project: ['src/**/*.{ts,tsx}!', '{test,faults,bench}/**/*.{ts,tsx}'],
  include: ['files', 'dependencies', 'unlisted', 'unresolved', 'exports', 'types', 'duplicates', 'cycles'],
  rules: { cycles: 'error' },
  ignoreExportsUsedInFile: isProduction,
  // Read from node_modules by their paths.
  ignoreDependencies: ['@fontsource-variable/inter', '@grafana/schema', '@redocly/cli'],
}

export default config
