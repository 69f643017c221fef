/** The shape of a provider's `auth` in the catalogue file: how its calls are authorized, where that is not as its format has it. */
import { type Static, type TProperties, Type } from '@sinclair/typebox'

const HeaderName = Type.String({
  pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$",
  description: 'the name of a header',
})

/** The types by name, each with what it needs. */
const TYPES = {
  bearer: strict({ type: Type.Literal('bearer') }),
  header: strict({ type: Type.Literal('header'), name: HeaderName }),
  none: strict({ type: Type.Literal('none') }),
}

export const AuthSchema = Type.Union(Object.values(TYPES), {
  description: '{"type": "bearer"}, {"type": "header", "name": …} or {"type": "none"}',
})

export type AuthFile = Static<typeof AuthSchema>

function strict<Properties extends TProperties>(properties: Properties) {
  return Type.Object(properties, { additionalProperties: false })
}
