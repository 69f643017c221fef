/** Declares imports of CSS files for TypeScript; only the bundler reads these files. */
declare module '*.css'
