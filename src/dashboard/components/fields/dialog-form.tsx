/** The form in a dialog: errors, fields, and below them the buttons to cancel and submit. */
import { Button, Group, Stack, Textarea, type TextareaProps } from '@mantine/core'
import type { ReactNode } from 'react'
import { FormError } from './form-error'
import type { Submission } from './use-submission'

type DialogFormProps = {
  submission: Submission
  cancel(): void
  action: string
  isDestructive?: boolean
  isReady?: boolean
  lead?: ReactNode
  children?: ReactNode
}

/** `lead` is shown above the error. */
export function DialogForm({
  submission,
  cancel,
  action,
  isDestructive = false,
  isReady = true,
  lead,
  children,
}: DialogFormProps) {
  return (
    <form onSubmit={submission.submit} noValidate>
      <Stack gap="md">
        {lead}
        <FormError error={submission.error} />
        {children}
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={cancel}>
            Cancel
          </Button>
          <Button
            type="submit"
            color={isDestructive ? 'red.8' : undefined}
            disabled={!isReady}
            loading={submission.isRunning}
          >
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

const MIN_REASON_CHARS = 3

/** Whether a reason is long enough. */
export function isReason(text: string): boolean {
  return text.trim().length >= MIN_REASON_CHARS
}

/** A field for the reason of an action. */
export function ReasonField(props: TextareaProps) {
  return (
    <Textarea label="Reason" description="Kept in the audit log." maxLength={500} autosize minRows={2} {...props} />
  )
}
