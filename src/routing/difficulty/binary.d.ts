/** Lets TypeScript know that `import path from './x.bin' with { type: 'file' }` is where the file lies: bundlers take it along. */
declare module '*.bin' {
  const path: string
  export = path
}
