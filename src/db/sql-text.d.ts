/** Lets TypeScript know that `import text from './x.sql' with { type: 'text' }` is a string: SQL stays in SQL files. */
declare module '*.sql' {
  const text: string
  export = text
}
