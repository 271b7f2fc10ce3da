import { X } from 'lucide';
import type { Form } from '../contract/form.ts';
import { Button } from '../parts/button.tsx';
import { MediaDrop } from '../parts/media-drop.tsx';

/** The reference images of a prompt, as data URLs. */
export function ReferenceImages({ form }: { form: Form }) {
  const path = 'base64Array';
  const images = (form.get(path) ?? []) as readonly string[];
  const set = (list: readonly string[]) => form.set(path, list.length === 0 ? undefined : list);
  const { maxItems = 5 } = form.schemaAt(path);
  return (
    <>
      <MediaDrop
        label="Reference images"
        hint={`At most ${maxItems} PNG or JPEG files.`}
        accept="image/png,image/jpeg"
        onAdd={(url) => set([...((form.get(path) ?? []) as readonly string[]), url].slice(0, maxItems))}
      />
      {images.length > 0 && (
        <ul class="reference-images">
          {images.map((url, index) => (
            <li key={`${index} ${url.length}`}>
              <img src={url} alt={`Reference ${index + 1}`} />
              <Button
                small
                icon={X}
                label={`Remove reference ${index + 1}`}
                onClick={() => set(images.filter((_, other) => other !== index))}
              />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
