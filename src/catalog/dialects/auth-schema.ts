/** The shape of a provider's `auth` in the catalogue file: how its calls are authorized, where that is not as its format has it. */
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
      metadataServer: Type.Literal(true),
      metadataHost: Type.Optional(Text),
    }),
  ],
  {
    description:
      '{"type": "bearer"}, {"type": "header", "name": …}, {"type": "none"}, or {"type": "entra"} with "tenant", "clientId" and either "clientSecret" or "federatedTokenFile", or with "managedIdentity": true, or {"type": "google"} with "credentials" or "metadataServer": true',
  },
)

export type AuthFile = Static<typeof AuthSchema>

function strict<Properties extends TProperties>(properties: Properties) {
  return Type.Object(properties, { additionalProperties: false })
}
