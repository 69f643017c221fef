/** Lets TypeScript know that there is Swagger UI's bundle, whose package has no types: docs.ts says what it uses of it. */
declare module 'swagger-ui-dist/swagger-ui-es-bundle.js'
