/** Links inside sentences, and the button to resend a mail. */
import { Anchor, Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { notifyDone, notifyError } from '@/dashboard/components/notify'
import { performOwn } from '@/people/client'

/** A link inside a sentence, underlined so that it differs not only by colour. */
export function TextLink({ href, children }: { href: string; children: ReactNode }) {
  return (
    <Anchor component={Link} href={href} inherit underline="always">
      {children}
    </Anchor>
  )
}

/** The button to resend the confirmation mail. */
export function ResendButton({ email }: { email: string }) {
  const resend = useMutation({
    mutationFn: () => performOwn('POST /session/email/resend', { email }),
    onSuccess: () => notifyDone('If this address waits for its confirmation, another mail is on its way.'),
    onError: notifyError,
  })
  return (
    <Button mt="sm" size="xs" variant="default" loading={resend.isPending} onClick={() => resend.mutate()}>
      Send the mail again
    </Button>
  )
}
