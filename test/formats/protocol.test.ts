/** The betas that a target of the caller's own format gets by its catalogue entry, and the fields of omitted betas. */
import { describe, expect, test } from 'bun:test'
import type { Beta, Protocol } from '@/chat/protocol'
import { leftOutOfOwn, protocolHeaders, untoldElsewhere } from '@/formats/protocol'

const free: Beta = { name: 'free-2026-01-01', family: 'free', isFree: true, fields: ['shared'] }
const dear: Beta = { name: 'dear-2026-01-01', family: 'dear', isFree: false, fields: ['shared', 'own'] }
const tool: Beta = { name: 'tool-2026-01-01', family: 'tool', isFree: false, fields: [], tool: 'searching' }
const protocol: Protocol = { betaHeader: 'x-beta', betas: [free, dear, tool] }
const TRAITS = { quirks: new Set<string>() }

function askedFor(traits: Partial<Parameters<typeof protocolHeaders>[1]>): string {
  return protocolHeaders(protocol, { ...TRAITS, ...traits }, {})['x-beta'] ?? ''
}

describe('the protocol headers of a target', () => {
  test.each([
    ['that are free, by default', {}, [free]],
    ['that its tool prices cover', { toolPrices: new Map([['searching', {}]]) }, [free, tool]],
    ['that its passed-on fields need', { passFields: new Set(['own']) }, [free, dear]],
    ['of every kind if the operator pays for them', { quirks: new Set(['unpriced-extras']) }, [free, dear, tool]],
    ['of an empty list: none', { betas: new Set<string>(), quirks: new Set(['unpriced-extras']) }, []],
    ['that its list names by family', { betas: new Set(['dear']) }, [dear]],
    ['that its list names in full', { betas: new Set(['dear-2026-01-01', 'free-2025-01-01']) }, [dear]],
    ['that its list adds to the default', { betas: new Set(['default', 'tool']) }, [free, tool]],
  ])('the target gets the betas %s', (_, traits, expected) => {
    expect(askedFor(traits)).toBe(expected.map(({ name }) => name).join(','))
  })
})

test('a field is omitted together with its beta, unless another allowed beta or the catalogue permits it', () => {
  const leftOut = (traits: object) => leftOutOfOwn({ unlisted: ['x'], protocol }, { ...TRAITS, ...traits })
  expect(leftOut({})).toEqual(['x', 'own', 'x-beta.dear-2026-01-01', 'x-beta.tool-2026-01-01'])
  const none = { betas: new Set<string>() }
  const betas = [free, dear, tool].map(({ name }) => `x-beta.${name}`)
  expect(leftOut(none)).toEqual(['x', 'shared', 'own', ...betas])
  expect(leftOut({ ...none, passFields: new Set(['own', 'x']) })).toEqual(['shared', ...betas])
  expect(leftOut({ quirks: new Set(['unpriced-extras']) })).toEqual([])
})

test('for a provider of another format all betas are omitted, and named together', () => {
  expect(untoldElsewhere({ hostedHistory: ['input.mcp_call'], protocol })).toEqual(['input.mcp_call', 'x-beta'])
  expect(untoldElsewhere({ protocol: { ...protocol, betas: [] } })).toEqual([])
  expect(untoldElsewhere({})).toEqual([])
})

test('the catalogue’s API version replaces the caller’s, and the catalogue’s betas are added', () => {
  const asking: Protocol = { ...protocol, version: { header: 'x-version', value: '2' } }
  expect(protocolHeaders(asking, TRAITS, {})).toEqual({ 'x-version': '2', 'x-beta': 'free-2026-01-01' })
  const fixed = { 'x-version': '1', 'x-beta': 'other, free-2026-01-01' }
  expect(protocolHeaders(asking, TRAITS, fixed)).toEqual({ 'x-beta': 'other,free-2026-01-01' })
  expect(protocolHeaders({ ...asking, betas: [] }, TRAITS, {})).toEqual({ 'x-version': '2' })
})
