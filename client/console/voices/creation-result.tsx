import { LoaderCircle } from 'lucide';
import { useMemo } from 'preact/hooks';
import { type CustomVoice, type DesignedVoice, type Model, requestIdOf, wavHeader } from '../../index.ts';
import { Cost } from '../calls/cost.tsx';
import type { Run } from '../calls/run.ts';
import { AudioPlayer } from '../parts/audio-player.tsx';
import { Icon } from '../parts/icon.tsx';
import { Badge, ErrorNotice } from '../parts/notices.tsx';
import { Stats } from '../parts/stats.tsx';
import { addressOf } from '../shell/router.ts';
import { SampleButton } from '../speech/voice-picker.tsx';
import { fileOf } from './wav-recording.ts';

export type CreatedVoice = CustomVoice & Partial<Pick<DesignedVoice, 'preview_audio'>>;
type Preview = NonNullable<DesignedVoice['preview_audio']>;

interface CreationResultProps {
  /** Undefined until it is created. */
  voice: CreatedVoice | undefined;
  run: Run<void>;
  models: readonly Model[];
}

/** The new voice: its progress, its preview, and where to use it. */
export function CreationResult({ voice, run, models }: CreationResultProps) {
  const state = run.state.value;
  return (
    <>
      {state.status === 'failed' && <ErrorNotice error={state.error} />}
      {voice === undefined && state.status === 'running' && <div class="skeleton voices-placeholder" />}
      {voice && <VoiceCard voice={voice} models={models} />}
    </>
  );
}

function VoiceCard({ voice, models }: { voice: CreatedVoice; models: readonly Model[] }) {
  const { id, status, target_model, preview_audio } = voice;
  const model = models.find((entry) => entry.id === target_model);
  const requestId = useMemo(() => requestIdOf(voice), [id]);
  return (
    <section class="card stack" aria-label="New voice">
      <div class="row-between">
        <div class="row" role="status">
          <strong class="voice-id">{id}</strong>
          {status === 'OK' ? (
            <Badge tone="success">Ready</Badge>
          ) : (
            <Badge tone="warning">
              <Icon node={LoaderCircle} size={12} className="spinner" />
              Preparing
            </Badge>
          )}
        </div>
        {status === 'OK' && (
          <div class="row">
            {model && <SampleButton model={model} voice={{ id, custom: true }} />}
            <a class="button button-small" href={speechAddress(model, id)}>
              Use in speech
            </a>
          </div>
        )}
      </div>
      {preview_audio && <PreviewPlayer preview={preview_audio} />}
      {requestId && <Stats items={{ Cost: <Cost requestId={requestId} /> }} />}
    </section>
  );
}

/** Returns the address of the speech page with the voice. */
export function speechAddress(model: Model | undefined, voice: string): string {
  const mode = model?.protocols.includes('realtime') ? 'realtime' : undefined;
  return addressOf('speech', { model: model?.id, voice, mode });
}

function PreviewPlayer({ preview }: { preview: Preview }) {
  const { data, response_format: format, sample_rate: sampleRate } = preview;
  const source = useMemo(() => {
    const file = fileOf(`data:audio/${format === 'mp3' ? 'mpeg' : format};base64,${data}`);
    if (format !== 'pcm') return file;
    return new Blob([new Uint8Array(wavHeader(sampleRate, file.size)), file], { type: 'audio/wav' });
  }, [data]);
  return <AudioPlayer source={source} label="the preview" fileName={`preview.${format}`} autoPlay />;
}
