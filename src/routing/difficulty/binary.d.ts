/** Types `import path from './x.bin' with { type: 'file' }` as the file's path; bundlers include the file. */
declare module '*.bin' {
  const path: string
  export = path
}
