/** Types imports of `.acl` files (a Redis user's rights) as text: `import text from './x.acl' with { type: 'text' }`. */
declare module '*.acl' {
  const text: string
  export = text
}
