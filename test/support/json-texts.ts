/** JSON texts with numbers that JSON.parse and JSON.stringify would write otherwise, for properties of what is relayed. */
import { fc } from './property'

/** A number as somebody may write it. */
export const numberText = fc.oneof(
  fc.constantFrom(
    '1098765432109876543',
    '-0',
    '1.0',
    '1e5',
    '1E+400',
    '-0.0',
    '0.1000',
    '9223372036854775807',
    '-1E-400',
  ),
  fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }).map(String),
  fc.tuple(fc.nat(), fc.stringMatching(/^\d{1,25}$/)).map(([whole, rest]) => `${whole}.${rest}`),
  fc.tuple(fc.integer(), fc.constantFrom('e', 'E', 'e+', 'E-'), fc.nat(400)).map((parts) => parts.join('')),
  fc.double({ noDefaultInfinity: true, noNaN: true }).map((value) => JSON.stringify(value)),
  fc.integer().map(String),
)

const stringText = fc
  .oneof(fc.string(), fc.constantFrom('1.0', '"-0"', '\\', '\\"1e5', 'ä€😀\n'))
  .map((text) => JSON.stringify(text))

/** Names of digits alone change their place in an object of JavaScript, and so are not among these. */
const nameText = fc.oneof(
  fc.string().map((name) => JSON.stringify(`_${name}`)),
  fc.constantFrom('"__proto__"', '"rawJSON"', '"toJSON"', '"constructor"'),
)

/** Any value, without space between its signs. */
export const valueText: fc.Arbitrary<string> = fc.letrec<{ value: string; fields: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    numberText,
    stringText,
    fc.constantFrom('true', 'false', 'null', '{}', '[]'),
    fc.array(tie('value'), { maxLength: 4 }).map((items) => `[${items.join()}]`),
    tie('fields').map((fields) => `{${fields}}`),
  ),
  fields: fc
    .uniqueArray(fc.tuple(nameText, tie('value')), { selector: ([name]) => name, maxLength: 4 })
    .map((fields) => fields.map(([name, value]) => `${name}:${value}`).join()),
})).value
