/** Images attached to a playground message: chosen or pasted, shown as thumbnails, removable. */
import { ActionIcon, CloseButton, FileButton, Group, Image, Indicator, Tooltip } from '@mantine/core'
import { IconPhotoPlus } from '@tabler/icons-react'

/** Types that every image model accepts. */
const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/webp', 'image/gif']
const MAX_IMAGES = 8
/** Maximum bytes of a message's images. In base64 they are a third larger, and a request may have 20 MB by default. */
const MAX_BYTES = 10 * 1024 * 1024

/** The valid `files` as data URLs, appended to `known`; or an error message. */
export async function readImages(files: readonly File[], known: readonly string[]): Promise<string[] | string> {
  const wrong = files.find(({ type }) => !IMAGE_TYPES.includes(type))
  if (wrong) return `${wrong.name} is no PNG, JPEG, WebP or GIF.`
  if (known.length + files.length > MAX_IMAGES) return `A message can have ${MAX_IMAGES} images.`
  const knownBytes = known.reduce((sum, url) => sum + url.length * 0.75, 0)
  if (files.reduce((sum, { size }) => sum + size, knownBytes) > MAX_BYTES) return 'The images are larger than 10 MB.'
  return await Promise.all(files.map(readDataUrl))
}

/** The images in pasted data. */
export function pastedImages(data: DataTransfer): File[] {
  return [...data.files].filter(({ type }) => IMAGE_TYPES.includes(type))
}

/** The button to choose images. */
export function AttachButton({ attach }: { attach(files: File[]): void }) {
  return (
    <FileButton accept={IMAGE_TYPES.join(',')} multiple onChange={attach}>
      {(props) => (
        <Tooltip label="Attach images">
          <ActionIcon {...props} variant="default" size="lg" aria-label="Attach images">
            <IconPhotoPlus size={18} />
          </ActionIcon>
        </Tooltip>
      )}
    </FileButton>
  )
}

/** The images of a message; `remove` only for a message that is not sent yet. */
export function Thumbnails({ images, remove }: { images: readonly string[]; remove?: (index: number) => void }) {
  if (images.length === 0) return null
  return (
    <Group gap="xs" my="xs">
      {images.map((url, index) => (
        <Indicator
          key={url}
          disabled={!remove}
          size={20}
          color="gray"
          label={
            remove && <CloseButton size={16} aria-label={`Remove image ${index + 1}`} onClick={() => remove(index)} />
          }
        >
          <Image src={url} alt={`Attached ${index + 1}`} h={64} w="auto" maw={160} radius="sm" fit="contain" />
        </Indicator>
      ))}
    </Group>
  )
}

function readDataUrl(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.addEventListener('load', () => resolve(String(reader.result)))
    reader.addEventListener('error', () => reject(reader.error))
    reader.readAsDataURL(file)
  })
}
