/** Declares Swagger UI's bundle, whose package has no types; docs.ts types the parts it uses. */
declare module 'swagger-ui-dist/swagger-ui-es-bundle.js'
