/** Lets TypeScript know that a guide imported with { type: 'text' } is a string: they stay in Markdown files. */
declare module '*.md' {
  const text: string
  export = text
}
