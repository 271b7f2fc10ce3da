import { type Signal, useSignal } from '@preact/signals';
import { AudioLines, Film, Image, X } from 'lucide';
import { IconButton } from '../parts/button.tsx';
import { Icon } from '../parts/icon.tsx';
import { MediaDrop } from '../parts/media-drop.tsx';
import { kindOf, type Medium, type Role, roleOf } from './media.ts';

const roles: readonly Role[] = [
  'first_frame',
  'last_frame',
  'reference_image',
  'reference_video',
  'reference_audio',
];

/** Roles and local files that the models of a protocol accept. */
const rules: Readonly<Record<string, { roles: readonly Role[]; accept: string; hint: string }>> = {
  native_video: {
    roles,
    accept: 'image/*',
    hint: 'Images as files or addresses. Videos and audio as addresses.',
  },
  official: {
    roles,
    accept: 'image/*,audio/*',
    hint: 'Images and audio as files or addresses. Videos as addresses.',
  },
  eta: {
    roles: ['first_frame', 'reference_image', 'reference_video'],
    accept: 'image/*',
    hint: 'A start image, reference images, or the address of a video to edit.',
  },
};

const noRule = { roles, accept: 'image/*', hint: '' };
const icons = { image: Image, video: Film, audio: AudioLines };

interface ReferencesProps {
  media: Signal<readonly Medium[]>;
  protocol: string;
  problem: string | undefined;
}

/** The media of a request, each with its purpose. */
export function References({ media, protocol, problem }: ReferencesProps) {
  const rule = rules[protocol] ?? noRule;
  const announcement = useSignal('');
  return (
    <>
      <MediaDrop
        label="References"
        hint={rule.hint}
        problem={problem}
        accept={rule.accept}
        placeholder="https://… or asset://…"
        onAdd={(url, name) => {
          const role = roleOf(url, media.value, rule.roles);
          media.value = [...media.value, { url, role, name }];
          announcement.value = `Added as ${role.replace('_', ' ')}.`;
        }}
      />
      <p class="visually-hidden" role="status">
        {announcement.value}
      </p>
      {media.value.length > 0 && (
        <ul class="references">
          {media.value.map((medium, index) => (
            <li key={`${index} ${medium.url.slice(0, 60)}`}>
              <Preview url={medium.url} />
              <span class="reference-name" title={nameOf(medium)}>
                {nameOf(medium)}
              </span>
              <select
                class="input"
                aria-label="Purpose"
                value={medium.role}
                onChange={({ currentTarget: { value } }) => {
                  const role = value as Role;
                  media.value = media.value.map((other) => (other === medium ? { ...other, role } : other));
                }}
              >
                {rule.roles.map((role) => (
                  <option key={role} value={role}>
                    {role.replace('_', ' ')}
                  </option>
                ))}
              </select>
              <IconButton
                icon={X}
                label="Remove"
                onClick={() => {
                  media.value = media.value.filter((other) => other !== medium);
                }}
              />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/** A local image is shown. The content security policy allows no image of another host. */
function Preview({ url }: { url: string }) {
  if (url.startsWith('data:image/')) return <img class="reference-preview" src={url} alt="" />;
  return (
    <span class="reference-preview">
      <Icon node={icons[kindOf(url)]} />
    </span>
  );
}

const nameOf = ({ url, name }: Medium) =>
  name ?? (url.startsWith('data:') ? 'Local file' : url.replace(/^https?:\/\//, '').replace(/[?#].*$/s, ''));
