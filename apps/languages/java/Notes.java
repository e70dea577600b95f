import static java.nio.charset.StandardCharsets.US_ASCII;

/** Keeps notes: "NOTEJV word text" writes one down, "NOTEJV word" reads it. */
final class Notes {
    private static final int SEGMENT_BYTES = 56;

    private Notes() {}

    public static void main(String[] arguments) {
        Holdfast.begin();
        int database = Holdfast.pcb("NOTES");
        for (byte[] data; (data = Holdfast.message()) != null; ) {
            String[] words = new String(data, US_ASCII).trim().split(" +", 3);
            String text = words.length > 2 ? words[2].trim() : "";
            Holdfast.reply(note(database, words[1], text).getBytes(US_ASCII));
        }
        Holdfast.end(true);
    }

    private static String note(int database, String word, String text) {
        String key = String.format("%-8.8s", word);
        byte[] area = new byte[SEGMENT_BYTES];
        byte[] ssa = ("NOTE    (NOTEKEY  =" + key + ")").getBytes(US_ASCII);
        Holdfast.Answer found = Holdfast.call("GHU", database, area, 0, ssa);
        boolean isThere = found.status.equals("  ");
        if (!isThere && !found.status.equals("GE")) {
            throw new IllegalStateException("GHU: " + found.status);
        }
        String old = new String(area, US_ASCII);
        int changes = isThere ? Integer.parseInt(old.substring(8, 16)) : 0;
        if (text.isEmpty()) {
            return isThere ? word + " " + changes + " " + old.substring(16).stripTrailing()
                : word + " IS NOT NOTED";
        }
        byte[] note = String.format("%s%08d%-40.40s", key, changes + 1, text).getBytes(US_ASCII);
        Holdfast.Answer done = isThere
            ? Holdfast.call("REPL", database, note, note.length)
            : Holdfast.call("ISRT", database, note, note.length, "NOTE     ".getBytes(US_ASCII));
        if (!done.status.equals("  ")) {
            throw new IllegalStateException(done.status);
        }
        if (text.equals("FAIL")) {
            throw new IllegalArgumentException("a note that is none");
        }
        return word + " " + (changes + 1) + " " + text;
    }
}
