/** The schema of a provider's `auth` in the catalogue file: how its calls are authorized, if not in its format's default way. */
import { type Static, type TProperties, Type } from '@sinclair/typebox'

const HeaderName = Type.String({
  pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$",
  description: 'the name of a header',
})

const Text = Type.String({ maxLength: 16_384 })

const APPLICATION = {
  type: Type.Literal('entra'),
  tenant: Text,
  clientId: Text,
  authority: Type.Optional(Text),
  scope: Type.Optional(Text),
}

const AWS = {
  type: Type.Literal('aws'),
  region: Type.String({ pattern: '^[a-z0-9-]{1,64}$' }),
  service: Type.Optional(Type.String({ pattern: '^[a-z0-9-]{1,64}$' })),
  bearer: Type.Optional(Type.Literal(true)),
  assumeRoleArn: Type.Optional(Text),
  externalId: Type.Optional(Text),
  stsEndpoint: Type.Optional(Text),
  ssoEndpoint: Type.Optional(Text),
}

export const AuthSchema = Type.Union(
  [
    strict({ type: Type.Literal('bearer') }),
    strict({ type: Type.Literal('header'), name: HeaderName }),
    strict({ type: Type.Literal('none') }),
    strict({ ...APPLICATION, clientSecret: Text }),
    strict({ ...APPLICATION, federatedTokenFile: Text }),
    strict({
      type: Type.Literal('entra'),
      managedIdentity: Type.Literal(true),
      clientId: Type.Optional(Text),
      identityEndpoint: Type.Optional(Text),
      identitySecret: Type.Optional(Text),
      scope: Type.Optional(Text),
    }),
    strict({ type: Type.Literal('google'), credentials: Text }),
    strict({
      type: Type.Literal('google'),
      metadataServer: Type.Optional(Type.Literal(true)),
      metadataHost: Type.Optional(Text),
    }),
    strict({ ...AWS, accessKeyId: Text, secretAccessKey: Text, sessionToken: Type.Optional(Text) }),
    strict({ ...AWS, profile: Text, credentialsFile: Text, configFile: Type.Optional(Text) }),
    strict({ ...AWS, roleArn: Text, webIdentityTokenFile: Text }),
    strict({
      ...AWS,
      container: Text,
      containerToken: Type.Optional(Text),
      containerTokenFile: Type.Optional(Text),
    }),
    strict({ ...AWS, instance: Type.Literal(true), instanceEndpoint: Type.Optional(Text) }),
  ],
  {
    description:
      '{"type": "bearer"}, {"type": "header", "name": …}, {"type": "none"}, or {"type": "entra"} with "tenant", "clientId" and either "clientSecret" or "federatedTokenFile", or with "managedIdentity": true, or {"type": "google"} with "credentials", or else as what the metadata server knows, or {"type": "aws"} with "region" and, unless they are the environment’s, "accessKeyId" and "secretAccessKey", "profile" and "credentialsFile", "roleArn" and "webIdentityTokenFile", "container", or "instance": true',
  },
)

export type AuthFile = Static<typeof AuthSchema>

function strict<Properties extends TProperties>(properties: Properties) {
  return Type.Object(properties, { additionalProperties: false })
}
