/** Lua files are imported as text: `import text from './reserve.lua' with { type: 'text' }`. */
declare module '*.lua' {
  const text: string
  export = text
}
