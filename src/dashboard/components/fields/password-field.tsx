/** A field for a password, shown or hidden, named in the way that password managers understand. */
import { PasswordInput, type PasswordInputProps } from '@mantine/core'

type PasswordFieldProps = Omit<PasswordInputProps, 'autoComplete'> & {
  /** `new` lets a password manager propose one. */
  purpose: 'current' | 'new'
}

export function PasswordField({ purpose, ...props }: PasswordFieldProps) {
  return (
    <PasswordInput
      required
      withAsterisk={false}
      autoComplete={`${purpose}-password`}
      visibilityToggleButtonProps={{ 'aria-label': 'Show password', 'aria-hidden': false, tabIndex: 0 }}
      {...props}
    />
  )
}
