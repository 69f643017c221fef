/** Errors of the sign-in library: known codes become our errors with our texts, unknown ones become internal errors. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { APIError } from 'better-auth/api'
import { meaningOfFailure } from '@/console/auth/failure'
import { type Desk, openDesk } from './desk'

let desk: Desk

beforeAll(async () => {
  desk = await openDesk()
})
afterAll(() => desk.close())

/** What the library throws without listing it. */
const UNLISTED = ['UNAUTHORIZED']

const MEANINGS = [
  ['INVALID_EMAIL_OR_PASSWORD', 'invalid_credentials', 'wrong_credentials', undefined],
  ['EMAIL_NOT_VERIFIED', 'forbidden', 'email_not_verified', undefined],
  ['INVALID_PASSWORD', 'invalid_request', 'wrong_password', 'password'],
  ['CREDENTIAL_ACCOUNT_NOT_FOUND', 'invalid_request', 'wrong_password', 'password'],
  ['INVALID_TOKEN', 'invalid_request', 'invalid_link', 'token'],
  ['USER_NOT_FOUND', 'invalid_request', 'invalid_link', 'token'],
  ['USER_ALREADY_EXISTS_USE_ANOTHER_EMAIL', 'conflict', 'email_taken', 'email'],
  ['FAILED_TO_CREATE_USER', 'conflict', 'email_taken', 'email'],
  ['INVALID_EMAIL', 'invalid_request', 'invalid_email', 'email'],
  ['INVALID_CODE', 'invalid_request', 'wrong_code', 'code'],
  ['INVALID_BACKUP_CODE', 'invalid_request', 'wrong_code', 'code'],
  ['INVALID_TWO_FACTOR_COOKIE', 'invalid_credentials', 'sign_in_again', undefined],
  ['TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE', 'invalid_credentials', 'sign_in_again', undefined],
  ['ACCOUNT_TEMPORARILY_LOCKED', 'rate_limited', 'too_many_attempts', undefined],
  ['TOTP_ALREADY_ENABLED', 'conflict', 'totp_enabled', undefined],
  ['TOTP_NOT_ENABLED', 'conflict', 'totp_not_enabled', undefined],
  ['TWO_FACTOR_NOT_ENABLED', 'conflict', 'totp_not_enabled', undefined],
  ['BACKUP_CODES_NOT_ENABLED', 'conflict', 'totp_not_enabled', undefined],
  ['FAILED_TO_GET_SESSION', 'overloaded', undefined, undefined],
  ['UNAUTHORIZED', 'invalid_credentials', 'not_signed_in', undefined],
] as const

describe('an error of the sign-in library', () => {
  test.each(MEANINGS)('the library’s error %s becomes our error %s, %s', (code, kind, ours, param) => {
    const told = meaningOfFailure(new APIError('BAD_REQUEST', { code, message: `the library's own words` }))
    expect(told).toMatchObject({ name: 'GatewayError', kind })
    const { message, options } = told as { message: string; options: { code?: string; param?: string } }
    expect([options.code, options.param]).toEqual([ours, param])
    expect(message).not.toContain('library')
  })

  test('an unlisted error code of the library becomes our internal error', () => {
    const error = new APIError('BAD_REQUEST', { code: 'SOMETHING_NEW', message: 'no' })
    expect(meaningOfFailure(error)).toBe(error)
    expect(meaningOfFailure(new APIError('BAD_REQUEST'))).toBeInstanceOf(APIError)
  })

  test('an error of our own code is passed through', () => {
    const error = Object.assign(new Error('no'), { body: { code: 'INVALID_TOKEN' } })
    expect(meaningOfFailure(error)).toBe(error)
    expect(meaningOfFailure(undefined)).toBeUndefined()
  })

  test('every translated code still exists in the library', async () => {
    const library = await desk.parts.library()
    const known = new Set(Object.keys(library.$ERROR_CODES))
    const unknown: string[] = MEANINGS.map(([code]) => code).filter((code) => !known.has(code))
    expect(unknown).toEqual(UNLISTED)
  })
})
