/** The button that asks for the confirmation mail once more. */
import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { answer, api } from '@/dashboard/client'
import { notifyDone, notifyError } from '@/dashboard/components/notify'

export function ResendButton({ email }: { email: string }) {
  const resend = useMutation({
    mutationFn: () => answer(api.session.email.resend.post({ email })),
    onSuccess: () => notifyDone('If this address waits for its confirmation, another mail is on its way.'),
    onError: notifyError,
  })
  return (
    <Button
      mt="sm"
      size="xs"
      variant="default"
      loading={resend.isPending}
      disabled={resend.isSuccess}
      onClick={() => resend.mutate()}
    >
      {resend.isSuccess ? 'Mail sent' : 'Send the mail again'}
    </Button>
  )
}
