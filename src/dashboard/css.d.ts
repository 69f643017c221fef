/** Lets TypeScript know that components import styles, for the bundler's sake. */
declare module '*.css'
