/** A form on a page or in a dialog: errors, fields, and below them the submit button. */
import { Button, type ButtonProps, Group, Stack } from '@mantine/core'
import type { ReactNode } from 'react'
import { FormError } from './form-error'
import type { Submission } from './use-submission'

/** Width in pixels of a form that has a page to itself. */
export const FORM_WIDTH = 420

type PlainFormProps = {
  submission: Submission
  action: string
  button?: ButtonProps
  lead?: ReactNode
  remedy?: ReactNode
  maw?: number
  children: ReactNode
}

/** A settings form: its button is enabled once something was changed. */
export function SettingsForm({
  form,
  ...props
}: Pick<PlainFormProps, 'submission' | 'action' | 'children'> & { form: { isDirty(): boolean } }) {
  return <PlainForm button={{ variant: 'default', disabled: !form.isDirty() }} maw={FORM_WIDTH} {...props} />
}

/** `maw` is the maximal width of the form in pixels. */
export function PlainForm({ submission, action, button, lead, remedy, maw, children }: PlainFormProps) {
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
        {button?.fullWidth ? send : <Group>{send}</Group>}
      </Stack>
    </form>
  )
}
