/** Types imports of SQL files as text: `import text from './x.sql' with { type: 'text' }`. */
declare module '*.sql' {
  const text: string
  export = text
}
