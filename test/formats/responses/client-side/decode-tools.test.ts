/** Tools of every kind in responses requests, decoded; their names in answers; and tools that may be omitted. */
import { describe, expect, test } from 'bun:test'
import { decodeRequest } from '@/formats/responses/client-side/decode-request'
import { flatName } from '@/formats/responses/client-side/tool-names'
import type { JsonObject } from '@/lib/json'

function decode(tools: JsonObject[], more: JsonObject = {}) {
  return decodeRequest({ model: 'm', input: 'Hi', tools, ...more })
}

const FUNCTION = { type: 'function', name: 'f', description: 'Does', parameters: { type: 'object' } }
const NAMESPACE = {
  type: 'namespace',
  name: 'agents',
  description: 'Others who work',
  tools: [
    { type: 'function', name: 'spawn', description: 'Begins one' },
    { type: 'custom', name: 'tell' },
  ],
}

describe('tools', () => {
  test.each([
    [true, { strict: true }],
    [false, { strict: false }],
    [null, {}],
    [undefined, {}],
  ])('a tool with strict: %p is decoded', (strict, expected) => {
    const { type: _, ...tool } = FUNCTION
    expect(decode([{ ...FUNCTION, strict }]).tools).toEqual([{ ...tool, ...expected }])
  })

  test('tools in the shape of chat-completions are accepted', () => {
    const { type, ...definition } = FUNCTION
    expect(decode([{ type, function: definition }]).tools).toEqual(decode([FUNCTION]).tools)
  })

  test('tools in a namespace get it as a prefix, and custom tools get a text argument', () => {
    const { tools, toolOrigins } = decode([NAMESPACE, FUNCTION])
    expect(tools).toMatchObject([
      { name: 'agents__spawn', description: 'Begins one\n\nAbout agents: Others who work' },
      { name: 'agents__tell', parameters: { properties: { input: { type: 'string' } }, required: ['input'] } },
      { name: 'f' },
    ])
    expect([...(toolOrigins ?? [])]).toEqual([
      ['agents__spawn', { kind: 'function', name: 'spawn', namespace: 'agents' }],
      ['agents__tell', { kind: 'custom', name: 'tell', namespace: 'agents' }],
    ])
    expect(decode([FUNCTION]).toolOrigins).toBeUndefined()
  })

  test('a custom tool’s grammar is put into its description', () => {
    const format = { type: 'grammar', syntax: 'lark', definition: 'start: "x"' }
    const [tool] = decode([{ type: 'custom', name: 'patch', description: 'Edits', format }]).tools
    expect(tool?.description).toBe('Edits\n\nThe input must match this lark grammar:\nstart: "x"')
  })

  test('tools in an input item are offered; the last definition of a name wins', () => {
    const added = { type: 'additional_tools', role: 'developer', tools: [NAMESPACE, { ...FUNCTION, strict: true }] }
    const { tools } = decode([FUNCTION], { input: [added, { role: 'user', content: 'Hi' }] })
    expect(tools.map(({ name, strict }) => [name, strict])).toEqual([
      ['f', true],
      ['agents__spawn', undefined],
      ['agents__tell', undefined],
    ])
  })

  test('tools with equal names are refused', () => {
    expect(() => decode([NAMESPACE, { ...FUNCTION, name: 'agents__spawn' }])).toThrow('tools[1].name')
  })
})

test('long or invalid tool names end in a hash of the whole name', () => {
  expect(flatName('f', undefined)).toBe('f')
  expect(flatName('f', 'mcp__files')).toBe('mcp__files__f')
  const long = flatName('f'.repeat(80), 'ns')
  expect(long).toMatch(/^ns__f{51}_[0-9a-f]{8}$/)
  expect(long).not.toBe(flatName('f'.repeat(81), 'ns'))
  expect(flatName('a.b', 'ns')).toMatch(/^ns__a_b_[0-9a-f]{8}$/)
})

describe('the tool choice', () => {
  test.each([
    ['auto', { type: 'auto' }],
    ['required', { type: 'required' }],
    ['none', { type: 'none' }],
    [
      { type: 'function', name: 'f' },
      { type: 'tool', name: 'f' },
    ],
    [
      { type: 'function', name: 'spawn', namespace: 'agents' },
      { type: 'tool', name: 'agents__spawn' },
    ],
    [
      { type: 'custom', name: 'tell', namespace: 'agents' },
      { type: 'tool', name: 'agents__tell' },
    ],
    [
      {
        type: 'allowed_tools',
        mode: 'required',
        tools: [
          { type: 'function', name: 'f' },
          { type: 'namespace', name: 'agents' },
        ],
      },
      { type: 'required', names: ['f', 'agents__spawn', 'agents__tell'] },
    ],
  ] as const)('the tool choice %j is decoded', (choice, expected) => {
    const { toolChoice, nativeOnly } = decode([NAMESPACE, FUNCTION], { tool_choice: choice as never })
    expect(toolChoice as unknown).toEqual(expected)
    expect(nativeOnly).toBeUndefined()
  })

  test('a required provider tool limits the request to its provider', () => {
    const { nativeOnly } = decode([FUNCTION], { tool_choice: { type: 'mcp', server_label: 'x' } })
    expect(nativeOnly).toEqual(['tool_choice (of unknown kind)'])
  })
})

describe('tools that a provider runs', () => {
  test('an optional provider tool beside other tools is omitted', () => {
    const { nativeOnly, serverTools, extensions } = decode([FUNCTION, { type: 'web_search' }, { type: 'tool_search' }])
    expect(nativeOnly).toBeUndefined()
    expect(serverTools).toMatchObject([{ name: 'web_search', field: 'tools[1]', isOptional: true }])
    expect(extensions.responses?.tools).toHaveLength(2)
  })

  test('a provider tool that is alone or required limits the request to its provider', () => {
    expect(decode([{ type: 'web_search' }]).nativeOnly).toEqual(['tools[0] (web_search)'])
    const named = decode([FUNCTION, { type: 'web_search' }], { tool_choice: { type: 'web_search' } })
    expect(named.nativeOnly).toEqual(['tools[1] (web_search)', 'tool_choice (of unknown kind)'])
    expect(named.serverTools?.[0]?.isOptional).toBeUndefined()
  })

  test('a provider tool on which the answer depends is never omitted', () => {
    const added = { type: 'additional_tools', role: 'developer', tools: [{ type: 'mcp', server_label: 'x' }] }
    const { nativeOnly } = decode([FUNCTION, { type: 'file_search' }], {
      input: [added, { role: 'user', content: 'Hi' }],
    })
    expect(nativeOnly).toEqual(['tools[1] (file_search)', 'input[0].tools[0] (mcp)'])
  })
})

test('many tools and calls are read only once each, even if a namespace is listed many times', () => {
  const count = 8_000
  const names = Array.from({ length: count }, (_, index) => ({ type: 'function', name: `f${index}` }))
  const calls = names.map(({ name }, index) => ({ type: 'function_call', call_id: `c${index}`, name, arguments: '{}' }))
  const outputs = calls.map(({ call_id }) => ({ type: 'function_call_output', call_id, output: 'ok' })).reverse()
  const chosen = { type: 'namespace', name: 'ns' }
  const { turns, toolChoice } = decode([{ type: 'namespace', name: 'ns', tools: names }], {
    input: [...calls, ...outputs],
    tool_choice: { type: 'allowed_tools', tools: Array.from({ length: count }, () => chosen) },
  })
  expect(turns.map(({ content }) => content.length)).toEqual([count, count])
  expect(toolChoice).toMatchObject({ type: 'auto', names: expect.objectContaining({ length: count }) })
})
