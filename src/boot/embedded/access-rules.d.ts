/** Lets TypeScript know that `import text from './x.acl' with { type: 'text' }` is a string: the rights of a Redis user stay in a file. */
declare module '*.acl' {
  const text: string
  export = text
}
