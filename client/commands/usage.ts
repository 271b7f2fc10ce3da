export const usageText = `unigate makes speech, video, songs, pictures and 3D objects through a Unigate gateway.

  unigate speak TEXT --voice VOICE [-o FILE]   speak a text; TEXT - reads it from standard input
  unigate video PROMPT [-o FILE]               make a video; PROMPT - reads it from standard input
  unigate music PROMPT [-o FILE]               make a song
  unigate lyrics PROMPT [-o FILE]              write lyrics
  unigate image PROMPT [-o FILE]               make a grid of four pictures, or with --upscale one of them
  unigate model3d PROMPT [-o FILE]             make a 3D object, as GLB
  unigate models [--json]                      list the models that the key may use
  unigate voices [--model MODEL] [--json]      list the system voices
  unigate voices clone RECORDING               make a voice of your own from a file or an address
  unigate voices design DESCRIPTION [-o FILE]  make one from words; FILE takes a preview
  unigate voices list, delete VOICE            your own voices
  unigate assets upload ADDRESS                keep media for Seedance requests
  unigate assets show ASSET                    see whether it may be used
  unigate admin COMMAND                        run the gateway, see unigate admin --help

speak:
  -o, --output FILE      where the audio goes; - is standard output
      --voice VOICE      id of a voice of the model
      --model MODEL      default alpha3-tts-flash; with --realtime alpha3-tts-flash-realtime, with
                         --duplex voxa-v3-flash
      --format FORMAT    wav, mp3, pcm, opus or flac; default from the file's extension
      --instructions TEXT  how to speak, for instruct models
      --speed FACTOR     1 is normal
      --sample-rate HZ   where the model has more than one
      --stream           take the audio as it is made
      --realtime         over a realtime socket, which speaks while the text still comes
      --duplex           the same over an inference socket

video and model3d:
  -o, --output FILE      where the video or the GLB goes; - is standard output
      --model MODEL      default gamma3.0-video-prime; of model3d theta-3d
      --image IMAGE      an image to start from: an address, for video also a file
      --param KEY=VALUE  an option of the model; may be repeated
      --resume TASK      wait for a task that was started before, and take its file

video:
      --seconds SECONDS  with =-1 the model chooses
      --size SIZE        for example 720P
      --ratio RATIO      for example 16:9
      --first-frame IMAGE, --last-frame IMAGE
      --reference-image IMAGE  whose people, things or style to keep; may be repeated
      --video URL        a video to refer to or, with eta models, to edit
      --no-audio
      --seed SEED

music:
  -o, --output FILE      .mp3 or .wav; - is standard output
      --tags TAGS        styles, such as "folk, slow"
      --title TITLE
      --lyrics LYRICS    what to sing instead of a prompt; @FILE reads it, - is standard input
      --instrumental     nobody sings
      --both             both songs that a task makes, as FILE-1 and FILE-2
      --param KEY=VALUE  another field of the request; may be repeated
      --resume TASK      also of lyrics and image

image:
  -o, --output FILE      where the picture goes; - is standard output
      --upscale NUMBER   go on to one of the four pictures, 1 to 4
      --reference-image FILE  a picture to draw after; may be repeated

voices clone and design:
      --model MODEL      who will speak with it: default alpha3-tts-vc-2026-01-22, which takes files, or
                         alpha3-tts-vd-2026-01-26; voxa and alpha-audio models clone from addresses only
      --name NAME        a part of the voice's id; default from the file's name
      --language LANG    default en
      --text TEXT        what the recording says, or what the preview is to say

assets:
      --type TYPE        image, video or audio; default from the address's ending
      --name NAME
      --model MODEL      only zeta-delta-2-0-fast-260128, for its own assets

everywhere:
      --base-url URL     default UNIGATE_BASE_URL, or http://127.0.0.1:8080
      --key KEY          default UNIGATE_API_KEY
  -q, --quiet            nothing on standard error but errors
  -h, --help
  -V, --version

The id of a task is a line on standard error as soon as there is one.
Exit codes: 0 done, 1 failed, 2 wrong command line, 130 and 143 stopped by a signal.
`;
