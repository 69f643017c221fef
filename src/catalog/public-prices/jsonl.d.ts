/** Files of one JSON value a line are imported as text: `import text from './models.jsonl' with { type: 'text' }`. */
declare module '*.jsonl' {
  const text: string
  export = text
}
