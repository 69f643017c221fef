/** Declares Swagger UI's bundle, whose package has no types; docs.ts types the used parts. */
declare module 'swagger-ui-dist/swagger-ui-es-bundle.js'
