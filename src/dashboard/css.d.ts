/** Types the style imports of components, which only the bundler uses. */
declare module '*.css'
