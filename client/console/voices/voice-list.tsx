import { useSignal } from '@preact/signals';
import { MicVocal, RefreshCw, Trash2 } from 'lucide';
import { useEffect, useMemo } from 'preact/hooks';
import type { ListedVoice, Model } from '../../index.ts';
import { Button, IconButton } from '../parts/button.tsx';
import { Badge, EmptyState, ErrorNotice } from '../parts/notices.tsx';
import { Time } from '../parts/numbers.tsx';
import { useClient } from '../session/session.ts';
import { SampleButton } from '../speech/voice-picker.tsx';
import { speechAddress } from './creation-result.tsx';
import { DeleteVoice } from './delete-voice.tsx';
import { VoicePages } from './voice-pages.ts';

const tones = { OK: 'success', DEPLOYING: 'warning', UNDEPLOYED: 'danger' } as const;
const states = { OK: 'Ready', DEPLOYING: 'Preparing', UNDEPLOYED: 'Rejected' } as const;

/** The voices of the key's user. `version` changes when there may be new ones. */
export function VoiceList({ models, version }: { models: readonly Model[]; version: number }) {
  const client = useClient();
  const pages = useMemo(() => new VoicePages((options) => client.voices.list(options)), [client]);
  const deleted = useSignal<ListedVoice | undefined>(undefined);
  useEffect(() => {
    void pages.reload();
    return () => pages.stop();
  }, [pages, version]);
  const voices = pages.voices.value;
  return (
    <section class="stack" aria-label="Your voices">
      <div class="row-between">
        <h2>Your voices</h2>
        <IconButton icon={RefreshCw} label="Refresh the list" onClick={() => void pages.reload()} />
      </div>
      {pages.error.value !== undefined && <ErrorNotice error={pages.error.value} />}
      {voices === undefined && <div class="skeleton voices-placeholder" />}
      {voices?.length === 0 && (
        <EmptyState icon={MicVocal} title="You have no voices yet">
          <p>Record yourself or describe a voice, and it appears here.</p>
        </EmptyState>
      )}
      {voices && voices.length > 0 && (
        <ul class="card voice-list">
          {voices.map((voice) => (
            <VoiceRow
              key={voice.id}
              voice={voice}
              model={models.find(({ id }) => id === voice.target_model)}
              onDelete={() => (deleted.value = voice)}
            />
          ))}
        </ul>
      )}
      {pages.hasMore.value && voices && (
        <div>
          <Button small busy={pages.isLoading.value} onClick={() => void pages.more()}>
            Show more
          </Button>
        </div>
      )}
      {deleted.value && (
        <DeleteVoice
          id={deleted.value.id}
          onDeleted={() => pages.remove(deleted.value?.id)}
          onClose={() => (deleted.value = undefined)}
        />
      )}
    </section>
  );
}

interface VoiceRowProps {
  voice: ListedVoice;
  model: Model | undefined;
  onDelete: () => void;
}

function VoiceRow({ voice: { id, status, target_model, gmt_create }, model, onDelete }: VoiceRowProps) {
  return (
    <li>
      <div class="voice-facts">
        <span class="row">
          <strong class="voice-id">{id}</strong>
          <Badge tone={tones[status]}>{states[status]}</Badge>
        </span>
        <span class="muted">
          {target_model} · <Time at={Date.parse(`${gmt_create.replace(' ', 'T')}Z`)} />
        </span>
      </div>
      <div class="row">
        {status === 'OK' && model && (
          <>
            <SampleButton model={model} voice={{ id, custom: true }} />
            <a class="button button-small" href={speechAddress(model, id)}>
              Use
            </a>
          </>
        )}
        <IconButton icon={Trash2} label={`Delete ${id}`} onClick={onDelete} />
      </div>
    </li>
  );
}
