/** An error that belongs to no field of a form; screen readers announce it at once. */
import { Alert } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import type { ReactNode } from 'react'

export function FormError({ error, children }: { error: Error | undefined; children?: ReactNode }) {
  if (!error) return null
  return (
    <Alert color="red" variant="light" icon={<IconAlertTriangle size={18} />} role="alert">
      {error.message}
      {children}
    </Alert>
  )
}
