/** Tools and tool choice, encoded for generate-content providers. */
import { expect, test } from 'bun:test'
import { encode } from '@test/formats/generate-content/support'

test('functions are sent with their JSON Schema, or with its OpenAPI subset; functions without arguments are sent without a schema', () => {
  const tools = [
    {
      name: 'a',
      description: 'A',
      parameters: {
        $schema: 'x',
        type: 'object',
        properties: { n: { type: ['integer', 'null'], exclusiveMinimum: 0 } },
        additionalProperties: false,
      },
    },
    { name: 'b', parameters: { type: 'object', properties: {}, additionalProperties: false } },
    { name: 'c' },
    { name: 'd', parameters: { type: 'object', additionalProperties: { type: 'string' } } },
  ]
  expect(encode({ tools }).tools).toEqual([
    {
      functionDeclarations: [
        { name: 'a', description: 'A', parametersJsonSchema: tools[0]?.parameters },
        { name: 'b' },
        { name: 'c' },
        { name: 'd', parametersJsonSchema: tools[3]?.parameters },
      ],
    },
  ])
  expect(encode({ tools }, 'openapi-schema').tools).toEqual([
    {
      functionDeclarations: [
        {
          name: 'a',
          description: 'A',
          parameters: { type: 'OBJECT', properties: { n: { type: 'INTEGER', minimum: 1, nullable: true } } },
        },
        { name: 'b' },
        { name: 'c' },
        { name: 'd' },
      ],
    },
  ])
})

test('the tool choice is only sent together with tools', () => {
  const tools = [{ name: 'a' }]
  const choices = [
    { type: 'auto' },
    { type: 'auto', names: ['a'] },
    { type: 'required' },
    { type: 'required', names: ['a', 'b'] },
    { type: 'none' },
    { type: 'tool', name: 'a' },
  ] as const
  expect(choices.map((toolChoice) => encode({ tools, toolChoice: { ...toolChoice } as never }).toolConfig)).toEqual(
    [
      { mode: 'AUTO' },
      { mode: 'VALIDATED', allowedFunctionNames: ['a'] },
      { mode: 'ANY' },
      { mode: 'ANY', allowedFunctionNames: ['a', 'b'] },
      { mode: 'NONE' },
      { mode: 'ANY', allowedFunctionNames: ['a'] },
    ].map((functionCallingConfig) => ({ functionCallingConfig })),
  )
  expect(encode({ toolChoice: { type: 'auto' } }).toolConfig).toBeUndefined()
  expect(() => encode({ toolChoice: { type: 'required' } })).toThrow('no tools')
  expect(() => encode({ toolChoice: { type: 'tool', name: 'a' } })).toThrow('no tools')
})
