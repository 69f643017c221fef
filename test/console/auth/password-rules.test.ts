/** New passwords: common first guesses are refused, everything else is accepted. */
import { describe, expect, test } from 'bun:test'
import { checkNewPassword } from '@/console/auth/profile'
import { COMMON_PASSWORDS } from '@/lib/weak-password'

const KNOWN = ['ada.lovelace@example.test', 'Ada Lovelace']

describe('a new password', () => {
  test.each([
    'password',
    'PassWord123',
    'qwertyuiop',
    'aaaaaaaa',
    'abababab',
    '12341234',
    '12345678',
    'abcdefgh',
    '87654321',
    'ada.lovelace@example.test',
    'Ada.Lovelace',
    'ada lovelace',
  ])('a new password is refused: %s', (password) => {
    expect(() => checkNewPassword(password, KNOWN)).toThrow('easy to guess')
  })

  test.each([
    'correct horse',
    'a horse on a battery',
    '日本語のパスワード',
    '    spaces    ',
    'Tr0ub4dor',
    'ada lovelace 1815',
  ])('a new password is accepted: %s', (password) => {
    expect(() => checkNewPassword(password, KNOWN)).not.toThrow()
  })

  test('a refused password has the name of its field', () => {
    expect(() => checkNewPassword('password', [], 'newPassword')).toThrow(
      expect.objectContaining({ options: { code: 'weak_password', param: 'newPassword' } }),
    )
  })
})

describe('the list of common passwords', () => {
  test('the list of common passwords has lower-case entries of sufficient length', () => {
    expect(COMMON_PASSWORDS.size).toBeGreaterThan(150)
    for (const password of COMMON_PASSWORDS) {
      expect(password).toBe(password.toLowerCase())
      expect(password.length).toBeGreaterThanOrEqual(8)
    }
  })
})
