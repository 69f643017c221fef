/** Set-up of an authenticator app: password, QR code, first code, backup codes. */

import { Center, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { encode } from 'uqr'
import { CopyField } from '@/dashboard/components/fields/copy-field'
import { PlainForm } from '@/dashboard/components/fields/plain-form'
import { useSubmission } from '@/dashboard/components/fields/use-submission'
import { notifyDone } from '@/dashboard/components/notify'
import { askAgain } from '@/dashboard/query'
import { performOwn } from '@/people/client'
import { BackupCodes } from './backup-codes'
import { PasswordPrompt } from './password-prompt'

/** Width of the light border around the QR code, in modules. */
const QUIET_ZONE = 4

type Setup = { uri: string; secret: string; backupCodes: readonly string[] }

export function TotpSetup({ onDone }: { onDone(): void }) {
  const [setup, setSetup] = useState<Setup>()
  const [isConfirmed, setConfirmed] = useState(false)
  if (!setup) {
    return (
      <PasswordPrompt
        explanation="You need an app such as Aegis, 1Password, Google Authenticator or any other that makes six-digit codes."
        action="Continue"
        run={async (password) => setSetup(await performOwn('POST /session/totp/enable', { password }))}
      />
    )
  }
  if (!isConfirmed) return <ConfirmCode setup={setup} onConfirmed={() => setConfirmed(true)} />
  return (
    <BackupCodes
      codes={setup.backupCodes}
      onKept={() => {
        notifyDone('Two-step sign-in is on.')
        onDone()
        void askAgain()
      }}
    />
  )
}

function ConfirmCode({ setup, onConfirmed }: { setup: Setup; onConfirmed(): void }) {
  const form = useForm({
    initialValues: { code: '' },
    validate: { code: (code) => (/^\d{6}$/.test(code.trim()) ? null : 'Enter the six digits of the app.') },
  })
  const submission = useSubmission(form, async ({ code }) => {
    await performOwn('POST /session/totp/confirm', { code: code.trim() })
    onConfirmed()
  })
  return (
    <PlainForm
      submission={submission}
      action="Confirm"
      button={{ ml: 'auto' }}
      lead={
        <>
          <Text size="sm">Scan this with the app, or type the secret into it.</Text>
          <Center>
            <QrImage text={setup.uri} label="QR code for the authenticator app" />
          </Center>
          <CopyField label="Secret" value={setup.secret} shown={setup.secret.match(/.{1,4}/g)?.join(' ') ?? ''} />
        </>
      }
    >
      <TextInput
        label="Code the app shows now"
        autoComplete="one-time-code"
        inputMode="numeric"
        data-autofocus
        {...form.getInputProps('code')}
      />
    </PlainForm>
  )
}

/** `text` is at most 2,000 characters. */
function QrImage({ text, label, size = 196 }: { text: string; label: string; size?: number }) {
  const { data, size: width } = encode(text, { ecc: 'M', border: QUIET_ZONE })
  const path = data.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : ''))).join('')
  return (
    <svg role="img" aria-label={label} viewBox={`0 0 ${width} ${width}`} width={size} height={size}>
      <rect width={width} height={width} fill="#fff" rx="2" />
      <path d={path} fill="#000" shapeRendering="crispEdges" />
    </svg>
  )
}
