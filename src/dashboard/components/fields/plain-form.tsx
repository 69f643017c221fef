/** A form on a page or in a dialog: what was refused, the fields, and below them the button that sends it. */
import { Button, type ButtonProps, Group, Stack } from '@mantine/core'
import type { ReactNode } from 'react'
import { FormError } from './form-error'
import type { Submission } from './use-submission'

type PlainFormProps = {
  submission: Submission
  /** The verb on the button. */
  action: string
  /** How the button looks; at the right of `beside` unless it has the full width. */
  button?: ButtonProps
  beside?: ReactNode
  /** Stands above what was refused. */
  lead?: ReactNode
  /** Stands within what was refused. */
  remedy?: ReactNode
  maw?: number
  children: ReactNode
}

export function PlainForm({ submission, action, button, beside, lead, remedy, maw, children }: PlainFormProps) {
  const send = (
    <Button type="submit" loading={submission.isRunning} {...button}>
      {action}
    </Button>
  )
  return (
    <form onSubmit={submission.submit} noValidate>
      <Stack gap="md" maw={maw}>
        {lead}
        <FormError error={submission.error}>{remedy}</FormError>
        {children}
        {button?.fullWidth ? (
          send
        ) : (
          <Group justify={beside ? 'space-between' : undefined}>
            {beside}
            {send}
          </Group>
        )}
      </Stack>
    </form>
  )
}
