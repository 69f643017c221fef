/** The fields for the models that keys may call, and for the providers that may answer them; nothing chosen means every one. */
import { MultiSelect, type MultiSelectProps } from '@mantine/core'
import { useCatalogue } from '@/dashboard/catalogue'

/** What the form gives its field, and the words for it. */
type FieldProps = Pick<MultiSelectProps, 'label' | 'description' | 'onChange' | 'onBlur' | 'error'> & {
  value?: string[]
}

/** As many as the routes take. */
const MAX_MODELS = 500
const MAX_PROVIDERS = 100

/** What keys may call, and who may answer them, in a form; empty = every one. */
export type AllowedLists = { allowedModels: string[]; allowedProviders: string[] }
/** The same in the server's words: null = every one. */
export type Allowed = { [List in keyof AllowedLists]: string[] | null }

/** The fields of a form of rules for several keys. */
export function AllowedFields({ form }: { form: { getInputProps(list: keyof AllowedLists): object } }) {
  return (
    <>
      <ModelsField
        label="Models that keys may call"
        description="The playground as well"
        {...form.getInputProps('allowedModels')}
      />
      <ProvidersField label="Providers that may answer" {...form.getInputProps('allowedProviders')} />
    </>
  )
}

/** Both lists for a form. */
export function listsFrom({ allowedModels, allowedProviders }: Allowed): AllowedLists {
  return { allowedModels: allowedModels ?? [], allowedProviders: allowedProviders ?? [] }
}

/** Both lists for the server. */
export function allowedFrom({ allowedModels, allowedProviders }: AllowedLists): Allowed {
  return {
    allowedModels: allowedModels.length === 0 ? null : allowedModels,
    allowedProviders: allowedProviders.length === 0 ? null : allowedProviders,
  }
}

/** Which of the catalogue's models. */
export function ModelsField(props: FieldProps) {
  const known = useCatalogue().data?.models.map(({ id }) => id)
  return <IdsField known={known} noun="model" maxValues={MAX_MODELS} {...props} />
}

/** Which of the providers that serve any of its models. */
export function ProvidersField(props: FieldProps) {
  const known = useCatalogue()
    .data?.models.flatMap(({ providers }) => providers)
    .toSorted()
  return (
    <IdsField
      description="Requests go to no other provider, even if these fail"
      known={known}
      noun="provider"
      maxValues={MAX_PROVIDERS}
      {...props}
    />
  )
}

/** `known`: what there is, once it is loaded. What was chosen and is no more stays, until it is taken out. */
function IdsField({
  known,
  noun,
  value = [],
  ...props
}: FieldProps & { known: string[] | undefined; noun: string; maxValues: number }) {
  return (
    <MultiSelect
      placeholder={value.length === 0 ? `Every ${noun}` : undefined}
      data={[...new Set([...(known ?? []), ...value])]}
      searchable
      clearable
      clearButtonProps={{ 'aria-label': `Allow every ${noun}` }}
      hidePickedOptions
      nothingFoundMessage={known ? `No ${noun} of that name` : 'Loading…'}
      value={value}
      {...props}
    />
  )
}
