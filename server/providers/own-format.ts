import type { components } from '../../generated/http.ts';
import type { FileLinks } from '../media/file-links.ts';
import type { TaskRecord } from '../store/queries/tasks.ts';
import { renderImageJob } from './imgjob/render-image-job.ts';
import { renderNativeTask } from './native/render-task.ts';
import { renderFamilyRecord } from './official/family-record.ts';
import { renderOfficialTask } from './official/render-task.ts';
import { renderMusicTask } from './sigma/render-music.ts';
import { renderVideoTask } from './video-task.ts';

type TaskResponse = components['schemas']['MyTaskDetails']['response'];

/** Renders a task as the read operation of its format returns it. */
export function renderOwnFormat(task: TaskRecord, requestId: string, links: FileLinks): TaskResponse {
  switch (task.format) {
    case 'videos':
      return renderVideoTask(task, links);
    case 'generic':
      return task.driver === 'official' ? renderFamilyRecord(task, links) : renderVideoTask(task, links);
    case 'native':
      return renderNativeTask(task, requestId, links);
    case 'official':
      return renderOfficialTask(task, links);
    case 'music':
      return renderMusicTask(task, links);
    case 'image':
      return renderImageJob(task, links);
  }
}
