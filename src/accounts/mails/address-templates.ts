/** Mails about a change of somebody's sign-in address. They cannot be turned off. */
import { type Block, type Template, whenAndWhere } from './content'

const DAY_HOURS = 24

export const CONFIRM_HOURS = DAY_HOURS
export const UNDO_DAYS = 7

type Where = { address: string; at: string }

/** `undoDays`: days for which the mail's link can undo the change; 0 if there is no link. */
type Change = Where & { after: string; undoDays: number }

const confirmAddress: Template<Record<string, never>> = {
  hours: CONFIRM_HOURS,
  write: () => ({
    subject: 'Confirm your new e-mail address',
    blocks: [
      { text: 'Somebody, probably you, wants to sign in by this address from now on. Confirm that it is yours:' },
      { button: 'Confirm the address', page: 'confirm-address' },
      {
        text: `The link is valid for ${CONFIRM_HOURS} hours, works once, and asks for your password. If it was not you, ignore this mail: nothing has changed.`,
      },
    ],
  }),
}

const addressInUse: Template<Record<string, never>> = {
  hours: UNDO_DAYS * DAY_HOURS,
  write: () => ({
    subject: 'This address is already in use',
    blocks: [
      {
        text: 'Somebody, probably you, wants to sign in by this address from now on. It is in use here already, or was until lately and is kept for its person. Nothing has changed.',
      },
      { text: 'Sign in with it, or choose another address:' },
      { button: 'Sign in', page: 'sign-in' },
    ],
  }),
}

const addressChanged: Template<Change> = {
  hours: UNDO_DAYS * DAY_HOURS,
  write: ({ after, undoDays, address, at }) => ({
    subject: 'Your e-mail address was changed',
    blocks: [
      { text: `You sign in by ${after} from now on. This mail goes to your former address.` },
      { rows: whenAndWhere(at, address) },
      ...(undoDays === 0 ? TELL_OPERATOR : undoWithin(undoDays)),
    ],
  }),
}

const addressPutBack: Template<Where> = {
  hours: UNDO_DAYS * DAY_HOURS,
  write: ({ address, at }) => ({
    subject: 'The change of an e-mail address was undone',
    blocks: [
      {
        text: 'You no longer sign in by this address: the link in the mail to an earlier one has put that one back. All sessions were ended.',
      },
      { rows: whenAndWhere(at, address) },
      ...TELL_OPERATOR,
    ],
  }),
}

const TELL_OPERATOR: Block[] = [{ text: 'If you did not expect this, contact the operator of this service.' }]

function undoWithin(days: number): Block[] {
  return [
    { text: 'If it was not you, put this address back. That ends all sessions, and you choose a new password:' },
    { button: 'Put this address back', page: 'undo-address' },
    { text: `The link works once, within ${days} days, without a sign-in.` },
  ]
}

export const ADDRESS_TEMPLATES = {
  confirm_address: confirmAddress,
  /** To the requested address, if it belongs to somebody else or is reserved. */
  address_in_use: addressInUse,
  address_changed: addressChanged,
  address_put_back: addressPutBack,
}

/** An address in a form that only its owner recognises. */
export function maskedAddress(email: string): string {
  return `${email.slice(0, 1)}***${email.slice(email.lastIndexOf('@'))}`
}
