/** Pairing function calls with their results in histories, with and without ids. */
import { describe, expect, test } from 'bun:test'
import { decode } from '@test/formats/generate-content/support'

describe('pairing calls with results', () => {
  const call = (name: string, id?: string) => ({ functionCall: { name, args: {}, ...(id && { id }) } })
  const result = (name: string, output: string, id?: string) => ({
    functionResponse: { name, response: { output }, ...(id && { id }) },
  })

  function idsOf(contents: object[]): string[] {
    return decode({ contents: contents as never }).turns.flatMap(({ content }) =>
      content.flatMap((block) =>
        block.type === 'tool-call' ? [block.id] : block.type === 'tool-result' ? [block.callId] : [],
      ),
    )
  }

  test('calls and results without ids are paired by name and order', () => {
    const contents = [
      { parts: [{ text: 'go' }] },
      { role: 'model', parts: [call('a'), call('b'), call('a')] },
      { parts: [result('b', '1'), result('a', '2'), result('a', '3')] },
    ]
    expect(idsOf(contents)).toEqual(['call_1_0', 'call_1_1', 'call_1_2', 'call_1_1', 'call_1_0', 'call_1_2'])
    expect(idsOf([...contents, { role: 'model', parts: [call('a')] }]).slice(0, 6)).toEqual(idsOf(contents))
  })

  test('calls and results with ids are paired by id in any order; a call with a used id gets a new one', () => {
    expect(
      idsOf([
        { role: 'model', parts: [call('a', 'x'), call('a', 'y')] },
        { parts: [result('a', '2', 'y'), result('a', '1', 'x')] },
        { role: 'model', parts: [call('a', 'x')] },
        { parts: [result('a', '3', 'x')] },
      ]),
    ).toEqual(['x', 'y', 'y', 'x', 'call_2_0', 'call_2_0'])
  })

  test('a call answered by a result with its id is not paired again by name', () => {
    expect(
      idsOf([
        { role: 'model', parts: [call('a', 'x'), call('a', 'y')] },
        { parts: [result('a', '1', 'x'), result('a', '2')] },
      ]),
    ).toEqual(['x', 'y', 'x', 'y'])
  })

  test('a result with an unknown id is paired by name; a result without a call keeps its own id', () => {
    expect(idsOf([{ role: 'model', parts: [call('a', 'x')] }, { parts: [result('a', '1', 'lost')] }])).toEqual([
      'x',
      'x',
    ])
    expect(idsOf([{ parts: [result('a', '1', 'lost'), result('b', '2')] }])).toEqual(['lost', 'call_0_1'])
  })

  test('text and media of a call’s result are read', () => {
    const textOf = (response: object, parts?: object[]) =>
      decode({
        contents: [{ parts: [{ functionResponse: { name: 'a', response, ...(parts && { parts }) } }] }] as never,
      }).turns[0]?.content
    expect(textOf({ result: { rows: 2 } })).toMatchObject([{ content: [{ text: '{"rows":2}' }] }])
    expect(textOf({ output: 'x', more: 1 })).toMatchObject([{ content: [{ text: '{"output":"x","more":1}' }] }])
    expect(textOf({})).toMatchObject([{ content: [], json: {} }])
    expect(textOf({ output: '' })).toMatchObject([{ content: [{ text: '' }], json: { output: '' } }])
    expect(textOf({ output: 'see' }, [{ inlineData: { mimeType: 'image/png', data: 'AA==' } }])).toMatchObject([
      { content: [{ type: 'text' }, { type: 'image', source: { mediaType: 'image/png' } }] },
    ])
  })

  test('a call’s missing arguments are read as an empty text', () => {
    expect(
      decode({ contents: [{ role: 'model', parts: [{ functionCall: { name: 'now' } }] }] }).turns[0]?.content,
    ).toMatchObject([{ argumentsText: '' }])
  })

  test('pairing many calls and results takes linear time', () => {
    const calls = Array.from({ length: 4000 }, () => call('a', 'same'))
    const results = Array.from({ length: 4000 }, () => result('other', '1', 'lost'))
    const contents = Array.from({ length: 20 }, () => [{ role: 'model', parts: calls }, { parts: results }]).flat()
    expect(new Set(idsOf(contents)).size).toBe(80_001)
  })
})
