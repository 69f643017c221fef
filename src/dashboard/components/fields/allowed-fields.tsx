/** Fields for the models that keys may call and the providers that may answer; an empty field allows all. */
import { MultiSelect, type MultiSelectProps } from '@mantine/core'
import { useCatalogue } from '@/dashboard/catalogue'
import { KEY_FIELDS } from '@/people/keys/fields'

/** Props that the form passes to its field, and the field's texts. */
type FieldProps = Pick<MultiSelectProps, 'label' | 'description' | 'onChange' | 'onBlur' | 'error'> & {
  value?: string[]
}

/** Chooses among the catalogue's models. */
export function ModelsField(props: FieldProps) {
  const known = useCatalogue().data?.models.map(({ id }) => id)
  return <IdsField known={known} noun="model" maxValues={KEY_FIELDS.allowedModels.items.most} {...props} />
}

/** Chooses among the providers of any model. */
export function ProvidersField(props: FieldProps) {
  const known = useCatalogue()
    .data?.models.flatMap(({ providers }) => providers)
    .toSorted()
  return <IdsField known={known} noun="provider" maxValues={KEY_FIELDS.allowedProviders.items.most} {...props} />
}

/** `known`: the existing ids, once loaded. Chosen ids that no longer exist stay until removed. */
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
