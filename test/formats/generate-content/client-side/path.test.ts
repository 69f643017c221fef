/** Every form in which real clients write the path of a call. */
import { describe, expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import { modelOfResource, parseModelPath } from '@/formats/generate-content/client-side/models'

const GENERATE = { model: 'svc/foo', verb: 'generateContent' } as const

describe('parseModelPath', () => {
  test.each([
    '/v1beta/models/svc%2Ffoo:generateContent',
    '/v1beta/models/svc%2ffoo:generateContent',
    '/v1beta/models/svc/foo:generateContent',
    '/v1/models/svc/foo:generateContent',
    '/v1/models/svc%2Ffoo%3AgenerateContent',
    '/v1beta/models/svc/foo%3agenerateContent',
    '/v1beta/svc/foo:generateContent',
    '/v1/svc/foo:generateContent',
    '/models/svc/foo:generateContent',
    '/v1beta/v1/models/svc/foo:generateContent',
    '/v1beta/v1beta/models/svc/foo:generateContent',
    '/v1/v1beta/svc/foo:generateContent',
    '//v1beta/models/svc/foo:generateContent',
    '/v1beta//models/svc/foo:generateContent/',
    '/v1beta/models/svc/foo:generateContent//',
    '/v1beta1/publishers/svc/models/foo:generateContent',
    '/v1beta/models%2Fsvc%2Ffoo:generateContent',
  ])('parseModelPath reads %s', (path) => {
    expect(parseModelPath(path)).toEqual(GENERATE)
  })

  test('parseModelPath reads the other methods', () => {
    expect(parseModelPath('/v1beta/models/auto-smart:streamGenerateContent')).toEqual({
      model: 'auto-smart',
      verb: 'streamGenerateContent',
    })
    expect(parseModelPath('/v1beta/svc/foo:countTokens')).toEqual({ model: 'svc/foo', verb: 'countTokens' })
  })

  test('parseModelPath splits at the last colon, plain or encoded', () => {
    expect(parseModelPath('/v1beta/models/svc/foo:bar:generateContent')?.model).toBe('svc/foo:bar')
    expect(parseModelPath('/v1beta/models/svc/foo%3Abar:generateContent')?.model).toBe('svc/foo:bar')
    expect(parseModelPath('/v1beta/models/svc/foo:bar%3AgenerateContent')?.model).toBe('svc/foo:bar')
  })

  test.each([
    '/v1beta/models/svc/foo',
    '/v1beta/models/svc/foo:',
    '/v1beta/models/svc/foo:GENERATECONTENT',
    '/v1beta/models/:generateContent',
    '/v1beta/:generateContent',
    '/v1beta/models/svc%ZZfoo:generateContent',
    '/',
    '',
  ])('parseModelPath refuses %s', (path) => {
    expect(parseModelPath(path)).toBeUndefined()
  })

  test('parseModelPath never throws', () => {
    fc.assert(
      fc.property(fc.string(), (path) => {
        parseModelPath(path)
        parseModelPath(`${path}:generateContent`)
      }),
    )
  })

  test('parseModelPath reads any model id, encoded or with plain slashes', () => {
    const segment = fc
      .stringMatching(/^[a-z0-9][a-z0-9._:-]{0,8}$/)
      .filter((text) => !/^(v1|models|publishers)/.test(text))
    fc.assert(
      fc.property(fc.array(segment, { minLength: 1, maxLength: 3 }), (segments) => {
        const model = segments.join('/')
        const expected = { model, verb: 'countTokens' } as const
        expect(parseModelPath(`/v1beta/models/${encodeURIComponent(model)}:countTokens`)).toEqual(expected)
        expect(parseModelPath(`/v1/${model}:countTokens`)).toEqual(expected)
      }),
    )
  })
})

test('modelOfResource reads model names without a method', () => {
  expect(modelOfResource('models/svc/foo')).toBe('svc/foo')
  expect(modelOfResource('/v1beta/models/auto-smart')).toBe('auto-smart')
  expect(modelOfResource('/v1beta/models')).toBe('')
})
