/** What a new password must not be, told to whoever chooses it. */
import { GatewayError } from '@/chat/error'
import { isWeakPassword } from '@/lib/weak-password'

/** Refuses a password that is easy to guess for whoever knows `known` (the person's address and name). Its length is the schema's business. */
export function checkNewPassword(password: string, known: readonly string[], param = 'password'): void {
  if (!isWeakPassword(password, known)) return
  throw new GatewayError('invalid_request', 'This password is easy to guess. Choose another one.', {
    code: 'weak_password',
    param,
  })
}
