/** A form on a page or in a dialog: what was refused, the fields, and below them the button that sends it. */
import { Button, type ButtonProps, Group, Stack } from '@mantine/core'
import type { ReactNode } from 'react'
import { FormError } from './form-error'
import type { Submission } from './use-submission'

/** Of fields that have a page to themselves: as wide as is easily read, in pixels. */
export const FORM_WIDTH = 420

type PlainFormProps = {
  submission: Submission
  /** The verb on the button. */
  action: string
  /** How the button looks. */
  button?: ButtonProps
  /** Stands above what was refused. */
  lead?: ReactNode
  /** Stands within what was refused. */
  remedy?: ReactNode
  maw?: number
  children: ReactNode
}

/** A form of settings: its button works once something is different. */
export function SettingsForm({
  form,
  ...props
}: Pick<PlainFormProps, 'submission' | 'action' | 'children'> & { form: { isDirty(): boolean } }) {
  return <PlainForm button={{ variant: 'default', disabled: !form.isDirty() }} maw={FORM_WIDTH} {...props} />
}

/** `maw` is the greatest width of the form, in pixels. */
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
