import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Reads one request a line, asks the library that the process was started for, and answers with one line: `../worker.ts` is the other side. */
public final class Worker {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** A hundred streams are open at once. */
  private static final int THREADS = 100;

  public static void main(String[] words) throws Exception {
    PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    // Whatever a library prints goes where it disturbs nobody.
    System.setOut(System.err);
    Library library = open(words[0]);
    ExecutorService pool = Executors.newFixedThreadPool(THREADS);
    BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = requests.readLine(); line != null; line = requests.readLine()) {
      JsonNode request = JSON.readTree(line);
      pool.submit(() -> answer(library, request, answers));
    }
    // Connections that libraries keep would hold the process open.
    System.exit(0);
  }

  private static Library open(String name) {
    return switch (name) {
      case "openai" -> new OpenaiChat();
      case "openai-responses" -> new OpenaiResponses();
      case "anthropic" -> new AnthropicMessages();
      case "google-genai" -> new GoogleGenai();
      default -> throw new IllegalArgumentException("no library " + name);
    };
  }

  private static void answer(Library library, JsonNode request, PrintStream answers) {
    ObjectNode reply = JSON.createObjectNode();
    reply.set("id", request.get("id"));
    try {
      reply.set("value", JSON.valueToTree(library.call(request.get("name").asText(), request.get("parameters"))));
    } catch (Throwable error) {
      StringWriter trace = new StringWriter();
      error.printStackTrace(new PrintWriter(trace));
      reply.put("failure", trace.toString());
    }
    synchronized (answers) {
      answers.println(reply);
    }
  }
}
